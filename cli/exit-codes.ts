/** How the firn command ends. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  usage: 2,
  nothingToDo: 3,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
