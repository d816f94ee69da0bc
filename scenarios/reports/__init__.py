"""Cases from the text of case reports: articles are read, filtered, restructured by a model, and validated."""
