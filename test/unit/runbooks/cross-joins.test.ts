import { describe, expect, it } from 'vitest';
import { crossJoins } from '../../../src/runbooks/cross-joins.ts';

const plan = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

describe('joins without a condition', () => {
  it('are nested loops that nothing joins', () => {
    const joins = crossJoins(
      plan(`
Sort  (cost=9.00..9.01 rows=100 width=12)
  Sort Key: (count(*)) DESC
  ->  HashAggregate  (cost=9.00..9.00 rows=100 width=12)
        Group Key: a.customer_id
        ->  Nested Loop  (cost=0.00..8.00 rows=333333333333 width=4)
              Join Filter: (a.total_cents < (b.total_cents + c.quantity))
              ->  Nested Loop  (cost=0.00..5.00 rows=300000000 width=8)
                    ->  Seq Scan on order_items c  (cost=0.00..2.00 rows=30000 width=4)
                    ->  Materialize  (cost=0.00..2.00 rows=10000 width=4)
                          ->  Seq Scan on orders b  (cost=0.00..2.00 rows=10000 width=4)
              ->  Materialize  (cost=0.00..3.00 rows=10000 width=8)
                    ->  Seq Scan on orders a  (cost=0.00..2.00 rows=10000 width=8)`),
    );
    expect(joins).toEqual([
      {
        left: 'order_items c',
        right: 'orders b',
        rows: 300_000_000,
        line: '->  Nested Loop  (cost=0.00..5.00 rows=300000000 width=8)',
      },
    ]);
  });

  it('are not those whose inner side asks for the outer one', () => {
    expect(
      crossJoins(
        plan(`
Nested Loop  (cost=0.29..9.00 rows=5000000 width=8)
  ->  Seq Scan on orders o  (cost=0.00..2.00 rows=1000000 width=4)
  ->  Index Scan using customers_pkey on customers c  (cost=0.29..0.31 rows=5 width=4)
        Index Cond: (id = o.customer_id)`),
      ),
    ).toEqual([]);
  });

  it('are not those of a few rows, nor joins of another kind', () => {
    expect(
      crossJoins(
        plan(`
Nested Loop  (cost=0.00..9.00 rows=50 width=8)
  ->  Seq Scan on settings s  (cost=0.00..1.00 rows=1 width=4)
  ->  Seq Scan on orders o  (cost=0.00..2.00 rows=50 width=4)`),
      ),
    ).toEqual([]);
    expect(
      crossJoins(
        plan(`
Hash Join  (cost=1.00..9.00 rows=90000000 width=8)
  Hash Cond: (o.id = i.order_id)
  ->  Seq Scan on orders o  (cost=0.00..2.00 rows=50 width=4)
  ->  Hash  (cost=1.00..1.00 rows=5 width=4)
        ->  Seq Scan on order_items i  (cost=0.00..1.00 rows=5 width=4)`),
      ),
    ).toEqual([]);
  });

  it('are found of functions as well, and none in what is no plan', () => {
    expect(
      crossJoins(
        plan(`
Aggregate  (cost=9.00..9.01 rows=1 width=8)
  ->  Nested Loop  (cost=0.00..8.00 rows=40000000000 width=0)
        ->  Function Scan on generate_series a  (cost=0.00..1.00 rows=40000 width=0)
        ->  Function Scan on generate_series b  (cost=0.00..1.00 rows=1000000 width=0)`),
      ),
    ).toMatchObject([{ left: 'generate_series a', right: 'generate_series b' }]);
    expect(crossJoins(['what is this', ''])).toEqual([]);
  });
});
