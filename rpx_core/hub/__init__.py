"""Datasets on the Hugging Face Hub: only the files that a task and split need, all verified.

Everything is kept below `<cache>/hub/<owner>__<repo>/`: a folder for each commit, in which a file
or an unpacked archive appears only when it is complete and matches its checksum. Nothing there
changes afterwards, so readers need no lock. Importing this package costs nothing.
"""
