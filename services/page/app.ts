import type { FxdError } from '../../clients/typescript/src/error.ts'
import type { Fxd } from '../../clients/typescript/src/fxd.ts'
import type { Rest } from '../../clients/typescript/src/rest.ts'
import type { Status } from '../../clients/typescript/src/types.ts'

/** What each view gets while a key is in use. */
export interface App {
  readonly fxd: Fxd
  /** For requests that the client has no call for. */
  readonly rest: Rest
  /** Address of the service, for programs that are copied. */
  readonly origin: string
  /** The newest status of the feeds. */
  readonly status: Status
  /** Calls `listener` with each new status, until the view ends. */
  onStatus(listener: (status: Status) => void, signal: AbortSignal): void
  /** Ends the use of the key if the failure is about it. Returns whether it is. */
  refused(error: FxdError): boolean
}

/** Makes a view from the words behind its name in the address. The signal aborts when another view opens. */
export type OpenView = (app: App, words: readonly string[], signal: AbortSignal) => HTMLElement
