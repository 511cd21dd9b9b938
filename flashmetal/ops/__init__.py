"""Operations: each module has the checks and the dispatch of one kernel family."""
