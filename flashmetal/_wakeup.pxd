from flashmetal._bridge cimport fm_encoder


# A future of the running event loop, done when the committed work of an encoder has ended, however
# it did. `owner` keeps the handle alive.
cdef object future_of_end(object owner, fm_encoder *encoder)
