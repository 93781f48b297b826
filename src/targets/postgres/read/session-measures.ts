/** Two measures that more than one tool takes: the same name, label and bound, wherever it is read. */
export const longestQuery = {
  name: 'longest_query',
  label: 'longest running statement',
  well: 'the longest statement runs for {bound}',
  unit: 's',
  healthy: 'at_most',
  bound: 30,
} as const;

export const longestTransaction = {
  name: 'longest_transaction',
  label: 'oldest transaction',
  well: 'the oldest transaction is {bound} old',
  unit: 's',
  healthy: 'at_most',
  bound: 300,
  metrics: ['pg_stat_activity_max_tx_duration'],
} as const;
