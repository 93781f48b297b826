/**
 * Slack's limits (facts: Block Kit reference; slackapi/bolt-js issues 2509 and 2867 for the total). In UTF-16 units,
 * which is never less than what Slack counts.
 */
export const LIMITS = {
  header: 150,
  containerTitle: 150,
  text: 3000,
  buttonText: 75,
  buttonValue: 2000,
  overflow: 5,
  optionValue: 150,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  viewTitle: 24,
  viewBlocks: 100,
  /** Of a view's blocks as JSON: Slack refuses one of 250,000 bytes. */
  viewBytes: 240_000,
  /** Pieces of one sentence or box. */
  spans: 1000,
  messageBlocks: 50,
  /** Of `data_visualization`: its title and axes. */
  chartTitle: 50,
  chartLabel: 20,
  chartPoints: 20,
  chartSeries: 6,
  id: 255,
  url: 3000,
  /** All text of one message's blocks: Slack refuses from about 12,000 on. */
  messageText: 10_000,
  /** `chat.update` refuses a longer fallback text. */
  fallback: 3000,
} as const;
