/** Exit codes after sysexits.h; `fxd --help` prints this table. */
export const exitCodes = {
  ok: 0,
  refused: 1,
  usage: 64,
  data: 65,
  noInput: 66,
  unavailable: 69,
  internal: 70,
  system: 71,
  busy: 75,
  noPermission: 77,
  config: 78,
} as const

export type ExitName = keyof typeof exitCodes

export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'done',
  refused: 'the service refused: no such key or feed, or its state forbids it; or doctor found a problem',
  usage: 'the command line is wrong',
  data: 'some of the given data is invalid; the valid part is stored',
  noInput: 'a file or folder cannot be read',
  unavailable: 'the service does not answer',
  internal: 'a defect of fxd',
  system: 'a port is busy, or the data folder is locked or not writable',
  busy: 'another change of the same object came first, or too many sessions are open; try again',
  noPermission: 'the administration token was refused',
  config: 'a variable or a Feed manifest is invalid',
}

/** Ends a command: only the message is printed, a sentence for a person. */
export class Fatal extends Error {
  readonly exit: ExitName

  constructor(exit: ExitName, message: string, cause?: unknown) {
    super(message, { cause })
    this.exit = exit
  }
}
