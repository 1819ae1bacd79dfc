import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { jsonType } from '../platform/http/error-answer.ts'
import type { Clock } from '../ports/clock.ts'

/** An answer as finished JSON, in pieces. */
export interface JsonText {
  readonly pieces: readonly Buffer[]
  /**
   * Memory that a long answer reserves. `begin` is called when the client may read, with a function that cuts
   * the connection. `leave` frees the memory when the client has read the answer. After `ms` milliseconds the
   * connection is cut. Such an answer is written as fast as its client reads, any other in one piece.
   */
  readonly reserved?: {
    readonly begin: (cut: () => void) => void
    readonly leave: () => void
    readonly ms: number
  }
}

export const isJsonText = (value: object): value is JsonText => 'pieces' in value
export const bytesOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)

export function sendText(reply: FastifyReply, { pieces, reserved }: JsonText, clock: Clock): FastifyReply {
  const bytes = bytesOf(pieces)
  reply.type(jsonType)
  if (!reserved) return reply.send(Buffer.concat(pieces, bytes))
  const cut = (): void => {
    reply.raw.req.socket.destroy()
  }
  reserved.begin(cut)
  const cancel = clock.after(reserved.ms, cut)
  reply.raw.once('close', () => {
    cancel()
    reserved.leave()
  })
  return reply.header('Content-Length', bytes).send(Readable.from(pieces, { objectMode: false }))
}

export const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.type(jsonType).send(JSON.stringify(body))

/** Sets headers on the raw response, which keeps the case of their names, as the specification wants. */
export function setHeaders(reply: FastifyReply, headers: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
}
