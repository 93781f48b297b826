/** Whether who did something is a person in Slack, by their id, and not a program, a file or a name of another service. */
export const isSlackUser = (by: string): boolean => /^[UW][A-Z0-9]{2,}$/.test(by);
