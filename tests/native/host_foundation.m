#include "host_test.h"
#include <Block.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "zombie.h"

static int deallocated;

@interface Witness : NSObject
@end

@implementation Witness
- (void)dealloc {
    deallocated++;
    [super dealloc];
}
@end

static void the_last_release_deallocates(void) {
    deallocated = 0;
    Witness *witness = [Witness new];
    CHECK(witness.retainCount == 1 && control->live_objects("Witness") == 1);
    CHECK([witness retain] == witness && witness.retainCount == 2);
    [witness release];
    CHECK(deallocated == 0);
    [witness release];
    CHECK(deallocated == 1 && control->live_objects("Witness") == 0);
}

static void pools_release_what_is_theirs(void) {
    deallocated = 0;
    @autoreleasepool {
        [[Witness new] autorelease];
        @autoreleasepool {
            [[Witness new] autorelease];
            for (int i = 0; i < 100; i++)
                [[Witness new] autorelease];
            CHECK(deallocated == 0);
        }
        CHECK(deallocated == 101);
    }
    CHECK(deallocated == 102);
}

static void draining_an_outer_pool_drains_the_inner_ones(void) {
    deallocated = 0;
    NSAutoreleasePool *outer = [NSAutoreleasePool new], *inner = [NSAutoreleasePool new];
    [[Witness new] autorelease];
    CHECK(inner != outer);
    [outer drain];
    CHECK(deallocated == 1);
}

static void nest_pools(int depth) {
    @autoreleasepool {
        [[Witness new] autorelease];
        if (depth > 0) nest_pools(depth - 1);
        [[Witness new] autorelease];
    }
}

static void *use_pools(void *unused) {
    (void)unused;
    for (int depth = 0; depth < 20; depth++)
        nest_pools(depth);
    return NULL;
}

static void pools_are_used_again_and_end_with_their_thread(void) {
    pthread_t thread;
    long before = control->live_objects(NULL);
    deallocated = 0;
    use_pools(NULL);
    CHECK(deallocated == 420 && control->live_objects(NULL) == before);
    CHECK(pthread_create(&thread, NULL, use_pools, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(deallocated == 840 && control->live_objects(NULL) == before);
}

static void classes_are_found_by_their_names(void) {
    CHECK([Witness class] == objc_getClass("Witness"));
    CHECK([NSAutoreleasePool class] == objc_getClass("NSAutoreleasePool"));
    for (int i = 0; i < 3; i++) {
        id witness = [[[Witness alloc] init] autorelease];
        CHECK([witness isKindOfClass:[NSObject class]] && [witness class] == [Witness class]);
    }
}

@interface Heir : NSObject
@end

@implementation Heir
- (void)dealloc {
    [[Witness new] autorelease];
    [super dealloc];
}
@end

static void a_drain_releases_what_it_autoreleases(void) {
    deallocated = 0;
    @autoreleasepool {
        [[Heir new] autorelease];
    }
    CHECK(deallocated == 1);
}

static void *without_a_pool(void *witness) {
    [(id)witness autorelease];
    return NULL;
}

static void pools_belong_to_one_thread(void) {
    hm_diagnostics before, after;
    Witness *witness = [Witness new];
    pthread_t thread;
    control->get_diagnostics(&before);
    pthread_create(&thread, NULL, without_a_pool, witness);
    pthread_join(thread, NULL);
    control->get_diagnostics(&after);
    CHECK(after.poolless == before.poolless + 1);
    CHECK(witness.retainCount == 1);
    [witness release];
}

static void *drain(void *pool) {
    [(NSAutoreleasePool *)pool drain];
    return NULL;
}

static void *drain_twice(void *unused) {
    (void)unused;
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    [pool drain];
    [pool drain];
    return NULL;
}

static void pools_are_drained_once_and_by_their_thread(void) {
    pthread_t thread;
    deallocated = 0;
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    [[Witness new] autorelease];
    pthread_create(&thread, NULL, drain, pool);
    pthread_join(thread, NULL);
    CHECK(host_misuses(1) && deallocated == 0);
    [pool drain];
    CHECK(deallocated == 1);
    pthread_create(&thread, NULL, drain_twice, NULL);
    pthread_join(thread, NULL);
    CHECK(host_misuses(1));
}

@interface Successor : Witness
@end

@implementation Successor
- (NSUInteger)hash {
    return 7;
}
@end

static void messages_find_the_method_of_the_receivers_class(void) {
    id objects[] = {
        [[Witness new] autorelease], [[Successor new] autorelease], @"text", [NSArray array], nil};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < LENGTH(objects); i++) {
            NSUInteger hash = [objects[i] hash];
            CHECK((hash == 7) == (i == 1) && (hash == 0) == !objects[i]);
            CHECK([objects[i] isEqual:objects[i]] == (objects[i] != nil));
            CHECK([objects[i] class] == object_getClass(objects[i]));
        }
}

static void a_release_too_many_is_noticed(void) {
    hm_diagnostics before, after;
    control->get_diagnostics(&before);
    hm_zombies_keep(YES);
    Witness *witness = [Witness new];
    [witness release];
    [witness release];
    hm_zombies_keep(NO);
    control->get_diagnostics(&after);
    CHECK(after.over_releases == before.over_releases + 1);
    CHECK(control->live_objects("Witness") == 0);
    hm_zombie_free(witness);
}

static void strings_hold_valid_utf8_only(void) {
    static const char *const bad[] = {"\xff",
                                      "\xc0\x80",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "a\x80",
                                      "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < LENGTH(bad); i++)
        CHECK(![NSString stringWithUTF8String:bad[i]]);
    NSString *text = [NSString stringWithUTF8String:"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"];
    CHECK(text.length == 5); /* the last one is a surrogate pair */
    CHECK([text lengthOfBytesUsingEncoding:NSUTF8StringEncoding] == 10);
    CHECK(strcmp(text.UTF8String, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == 0);
}

static void strings_compare_by_their_bytes(void) {
    NSString *text = [NSString stringWithUTF8String:"kernel"];
    CHECK([text isEqual:@"kernel"] && [@"kernel" isEqual:text] && text.hash == [@"kernel" hash]);
    CHECK(![text isEqual:@"kernels"] && ![text isEqual:[NSArray array]]);
    NSString *zero = [[[NSString alloc] initWithBytes:"a\0b" length:3
                                             encoding:NSUTF8StringEncoding] autorelease];
    CHECK(![zero isEqualToString:@"a"] && zero.length == 3);
    CHECK([text copy] == text);
    [text release];
}

static void constant_strings_are_immortal(void) {
    NSString *text = @"constant";
    for (int i = 0; i < 3; i++)
        [text release];
    CHECK([[text retain] autorelease] == text && [text copy] == text);
}

static void collections_retain_their_members(void) {
    deallocated = 0;
    @autoreleasepool {
        id witness = [[Witness new] autorelease], keys[] = {@"key"};
        NSArray *array = [NSArray arrayWithObjects:&witness count:1];
        NSDictionary *dictionary = [NSDictionary dictionaryWithObjects:&witness
                                                               forKeys:keys
                                                                 count:1];
        CHECK([witness retainCount] == 3);
        CHECK(array.count == 1 && [array objectAtIndex:0] == witness);
        CHECK([dictionary objectForKey:@"key"] == witness && ![dictionary objectForKey:@"lock"]);
    }
    CHECK(deallocated == 1);
    CHECK(![[NSArray array] objectAtIndex:0] && host_misuses(1));
}

static void mutable_dictionaries_replace_and_copy(void) {
    NSMutableDictionary *dictionary = [NSMutableDictionary dictionary];
    [dictionary setObject:@"1" forKey:@"ONE"];
    [dictionary setObject:@"2" forKey:@"TWO"];
    NSDictionary *copy = [[dictionary copy] autorelease];
    [dictionary setObject:@"3" forKey:@"ONE"];
    [dictionary removeObjectForKey:@"TWO"];
    CHECK(dictionary.count == 1 && [[dictionary objectForKey:@"ONE"] isEqual:@"3"]);
    CHECK(copy.count == 2 && copy.allKeys.count == 2);
    CHECK([[copy objectForKey:@"ONE"] isEqual:@"1"]);
}

static void errors_describe_themselves(void) {
    NSError *bare = [NSError errorWithDomain:@"Domain" code:7 userInfo:nil];
    CHECK(bare.code == 7 && [bare.domain isEqual:@"Domain"] && bare.userInfo.count == 0);
    CHECK(host_contains(bare.localizedDescription, "(Domain error 7.)"));
    id keys[] = {NSLocalizedDescriptionKey}, values[] = {@"why"};
    NSDictionary *info = [NSDictionary dictionaryWithObjects:values forKeys:keys count:1];
    NSError *told = [NSError errorWithDomain:@"Domain" code:7 userInfo:info];
    CHECK([told.localizedDescription isEqual:@"why"]);
}

static void urls_keep_their_path(void) {
    CHECK([[NSURL fileURLWithPath:@"/a/b"].path isEqual:@"/a/b"]);
}

static void copied_blocks_retain_what_they_capture(void) {
    deallocated = 0;
    Witness *witness = [Witness new];
    void (^inner)(void) = ^{
        CHECK(witness.retainCount > 0);
    };
    void (^block)(void) = Block_copy(^{
        inner();
    });
    [witness release];
    CHECK(deallocated == 0);
    block();
    Block_release(block);
    CHECK(deallocated == 1);
}

static void classes_answer_about_themselves(void) {
    Witness *witness = [[Witness new] autorelease];
    CHECK([witness isKindOfClass:[NSObject class]] && ![witness isKindOfClass:[NSString class]]);
    CHECK([witness respondsToSelector:@selector(retain)]);
    CHECK(![witness respondsToSelector:@selector(objectAtIndex:)]);
    CHECK([NSArray instancesRespondToSelector:@selector(objectAtIndex:)]);
    CHECK(host_contains(witness.description, "<Witness: 0x"));
    Class class = [Witness class];
    CHECK([class retain] == (id) class);
    [class release];
}

int main(void) {
    const host_case cases[] = {
        {"the last release deallocates", the_last_release_deallocates},
        {"pools release what is theirs", pools_release_what_is_theirs},
        {"draining an outer pool drains the inner ones",
         draining_an_outer_pool_drains_the_inner_ones},
        {"a drain releases what it autoreleases", a_drain_releases_what_it_autoreleases},
        {"pools are used again and end with their thread",
         pools_are_used_again_and_end_with_their_thread},
        {"classes are found by their names", classes_are_found_by_their_names},
        {"pools belong to one thread", pools_belong_to_one_thread},
        {"pools are drained once and by their thread", pools_are_drained_once_and_by_their_thread},
        {"messages find the method of the receiver's class",
         messages_find_the_method_of_the_receivers_class},
        {"a release too many is noticed", a_release_too_many_is_noticed},
        {"strings hold valid UTF-8 only", strings_hold_valid_utf8_only},
        {"strings compare by their bytes", strings_compare_by_their_bytes},
        {"constant strings are immortal", constant_strings_are_immortal},
        {"collections retain their members", collections_retain_their_members},
        {"mutable dictionaries replace and copy", mutable_dictionaries_replace_and_copy},
        {"errors describe themselves", errors_describe_themselves},
        {"URLs keep their path", urls_keep_their_path},
        {"copied blocks retain what they capture", copied_blocks_retain_what_they_capture},
        {"classes answer about themselves", classes_answer_about_themselves},
    };
    return host_run(cases, LENGTH(cases));
}
