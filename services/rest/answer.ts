import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../ports/clock.ts'

/** JSON that was written already, in pieces. */
export interface JsonText {
  readonly pieces: readonly Buffer[]
  /**
   * What a long answer holds until it was taken: given back at its end, and by force after so long. It is
   * written as fast as its client reads; one that holds nothing is written in one piece.
   */
  readonly held?: { readonly leave: () => void; readonly ms: number }
}

export const isJsonText = (value: object): value is JsonText => 'pieces' in value
export const bytesOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)

export const jsonType = 'application/json; charset=utf-8'

export function sendText(reply: FastifyReply, { pieces, held }: JsonText, clock: Clock): FastifyReply {
  const bytes = bytesOf(pieces)
  reply.type(jsonType)
  if (!held) return reply.send(Buffer.concat(pieces, bytes))
  const cancel = clock.after(held.ms, () => {
    reply.raw.req.socket.destroy()
  })
  reply.raw.once('close', () => {
    cancel()
    held.leave()
  })
  return reply.header('Content-Length', bytes).send(Readable.from(pieces, { objectMode: false }))
}

export const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply.type(jsonType).send(JSON.stringify(body))

/** Set on the raw response, whose names keep their casing: the specification spells its own. */
export function setHeaders(reply: FastifyReply, headers: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
}
