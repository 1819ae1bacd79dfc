import type { Duplex } from 'node:stream'
import { upgradeStatus } from '../../core/failure.ts'
import { type ErrorAnswer, endWithError } from '../../platform/http/error-answer.ts'

export class UpgradeRefused extends Error {
  readonly refusal: ErrorAnswer
  constructor(refusal: ErrorAnswer, cause?: unknown) {
    super(refusal.code, { cause })
    this.refusal = refusal
  }
}

/** Answers an upgrade request over plain HTTP and ends the server's side of the connection. */
export function refuse(socket: Duplex, refusal: ErrorAnswer): void {
  // Reads what the client still sends; otherwise its end of the connection is never seen.
  socket.resume()
  endWithError(socket, { status: upgradeStatus(refusal.code), ...refusal })
}
