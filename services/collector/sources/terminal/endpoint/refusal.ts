/** The codes of docs/terminal-protocol.md with their status. */
const statuses = {
  BAD_POST: 400,
  TOKEN_INVALID: 401,
  OTHER_ACCOUNT: 403,
  OTHER_VERSION: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SLOW_BODY: 408,
  BUSY: 409,
  SEQUENCE: 409,
  SECOND_TERMINAL: 409,
  SUPERSEDED: 410,
  NO_SESSION: 410,
  TOO_LARGE: 413,
  TOO_MANY: 429,
  NOT_TAKEN: 503,
} as const

export type RefusalCode = keyof typeof statuses
export const refusalCodes = Object.keys(statuses) as readonly RefusalCode[]

/** Nothing of the post was taken; the message is a sentence for the journal of the terminal. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly retryAfterSeconds: number | undefined

  constructor(code: RefusalCode, message: string, retryAfterSeconds?: number) {
    super(message)
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }

  get status(): number {
    return statuses[this.code]
  }
}
