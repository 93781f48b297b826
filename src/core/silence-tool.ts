/** The tool that silences alerts where they come from. */
export const SILENCE_TOOL = 'alertmanager_silence';
