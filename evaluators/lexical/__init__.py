"""The offline judge: lexical similarity in the place of a model, a floor and no more."""
