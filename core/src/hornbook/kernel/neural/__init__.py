"""The kernel's neural primitives: what each is asked, what it answers, and what is checked.

Six of them (Forethought 4): `turns`, `build_dep_graph`, `task_to_check`, `task_to_meet`,
`match_func` and `task_to_get`; and `order`, which only breaks ties.
"""
