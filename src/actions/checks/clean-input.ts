import { inputProblem } from '../../safety/inputs/clean-input.ts';
import type { Station } from './station.ts';

/** Station 6: nothing in the input hides what it says, and none of it is out of measure. */
export const cleanInput: Station = ({ input }) => inputProblem(input ?? null);
