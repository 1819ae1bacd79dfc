interface FxdErrorFields {
  readonly status?: number | undefined
  readonly retryAfter?: number | undefined
  readonly closeCode?: number | undefined
  readonly closeReason?: string | undefined
  readonly cause?: unknown
}

/** A failure that the service named, or `UNAVAILABLE`: no answer of the service arrived. */
export class FxdError extends Error {
  override readonly name = 'FxdError'
  /** A code of the service, such as `KEY_INVALID`, or `UNAVAILABLE`, `REDIRECTED`, `SYMBOL_REJECTED`, `CLOSED`, `INVALID_PARAMS`. */
  readonly code: string
  /** HTTP status, if there was an answer. */
  declare readonly status?: number
  /** Seconds to wait before a retry, if the service said so. */
  declare readonly retryAfter?: number
  /** Close code and reason of the socket that ended the iterator. */
  declare readonly closeCode?: number
  declare readonly closeReason?: string

  constructor(code: string, message: string, fields: FxdErrorFields = {}) {
    super(message)
    this.code = code
    Object.assign(this, fields)
  }

  /** Whether a later try may succeed. A failure without a code of the service came from a proxy. */
  get mayPass(): boolean {
    const { code, status = 0 } = this
    return code === 'UNAVAILABLE' || status === 429 || status >= 500
  }
}

/** An argument of the program is wrong. `got` may end with what is wanted. */
export const invalid = (name: string, got: string): FxdError =>
  new FxdError('INVALID_PARAMS', `${name}: got ${got}`)

/** Whether any error may pass: one of the program, such as of its function `key`, does not. */
export const mayPass = (cause: unknown): cause is FxdError => cause instanceof FxdError && cause.mayPass

/** What a request failed with. */
export const asFxdError = (cause: unknown): FxdError =>
  cause instanceof FxdError
    ? cause
    : new FxdError('UNAVAILABLE', `no answer: ${(cause as Error).message}`, { cause })
