export interface FxdErrorFields {
  readonly status?: number | undefined
  readonly retryAfter?: number | undefined
  readonly closeCode?: number | undefined
  readonly closeReason?: string | undefined
  readonly cause?: unknown
}

/** A failure that the service named, or `UNAVAILABLE`: no answer of the service arrived. */
export class FxdError extends Error {
  override readonly name = 'FxdError'
  /** A code of the service, such as `KEY_INVALID`, or `UNAVAILABLE`, `SYMBOL_REJECTED`, `CLOSED`. */
  readonly code: string
  /** HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** Seconds to wait before a retry, if the service said so. */
  readonly retryAfter: number | undefined
  /** Close code and reason of the socket that ended the iterator. */
  readonly closeCode: number | undefined
  readonly closeReason: string | undefined

  constructor(code: string, message: string, fields: FxdErrorFields = {}) {
    super(message, { cause: fields.cause })
    this.code = code
    this.status = fields.status
    this.retryAfter = fields.retryAfter
    this.closeCode = fields.closeCode
    this.closeReason = fields.closeReason
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === undefined ? this.code === 'UNAVAILABLE' : this.status === 429 || this.status >= 500
  }
}

export const asFxdError = (cause: unknown): FxdError =>
  cause instanceof FxdError
    ? cause
    : new FxdError('UNAVAILABLE', `no answer: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      })
