-- Each process keeps the lists of which entries have a term in memory, made from search_entry.terms
-- (src/search/index/space-indexes.ts).
DROP TABLE search_posting;
