"""Evidence for a judge: searches, pages, and a store from which every quoted word can be given back."""
