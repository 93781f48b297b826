import { inputProblem } from '../../safety/inputs/clean-input.ts';
import type { Check } from './check.ts';

/** Check 6: nothing in the input hides what it says, and none of it is out of measure. */
export const cleanInput: Check = ({ input }) => inputProblem(input ?? null);
