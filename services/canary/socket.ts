import { WebSocket } from 'ws'
import type { Bar } from '../core/bars/bar.ts'
import type { Clock } from '../ports/clock.ts'
import type { NamedGap } from './compared.ts'

const upgradeTimeoutMs = 15_000
const pingMs = 25_000
/** Maximum silence: a pong arrives immediately, so a connection that is silent for longer has ended. */
const silenceMs = 60_000
const frameBytesMax = 1_048_576
const retryAfterMsMax = 60_000

export interface SocketListener {
  opened(): void
  bar(symbol: string, bar: Bar): void
  gaps(gaps: readonly (NamedGap & { readonly symbol: string })[]): void
  subscribed(symbols: readonly string[], rejected: readonly string[]): void
  unsubscribed(symbols: readonly string[]): void
}

export interface SocketEnd {
  /** Close code, or HTTP status of a refused upgrade; `undefined`: there was no answer. */
  readonly code: number | undefined
  readonly retryAfterMs: number
  readonly why: string
}

export interface SocketDeps {
  readonly url: string
  readonly key: string
  readonly clock: Clock
  readonly listener: SocketListener
}

interface Frame {
  readonly type?: string
  readonly code?: string
  readonly symbol?: string
  readonly bar?: Bar
  readonly symbols?: readonly string[]
  readonly rejected?: readonly string[]
  readonly gaps?: readonly (NamedGap & { readonly symbol: string })[]
}

/** One socket of `/v1/stream`, from its upgrade to its end. */
export class CanarySocket {
  readonly ended: Promise<SocketEnd>
  readonly #socket: WebSocket

  constructor({ url, key, clock, listener }: SocketDeps) {
    const socket = new WebSocket(`${url}/v1/stream`, {
      headers: { 'X-API-Key': key },
      followRedirects: false,
      handshakeTimeout: upgradeTimeoutMs,
      maxPayload: frameBytesMax,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let lastMessageMs = clock.monotonicMs()
    const cancel = clock.every(pingMs, () => {
      if (clock.monotonicMs() - lastMessageMs > silenceMs) socket.terminate()
      else this.#send({ action: 'ping' })
    })
    this.ended = new Promise((resolve) => {
      let refused: Pick<SocketEnd, 'code' | 'retryAfterMs'> | undefined
      let wasOpen = false
      let why = ''
      socket.once('open', () => {
        wasOpen = true
        listener.opened()
      })
      socket.on('message', (data: Buffer) => {
        lastMessageMs = clock.monotonicMs()
        const frame = parseFrame(data.toString())
        if (frame) dispatch(frame, listener)
        else {
          why = 'a frame is no JSON object'
          socket.terminate()
        }
      })
      socket.once('unexpected-response', (_request, response) => {
        const seconds = Number(response.headers['retry-after'] ?? 0)
        const retryAfterMs = Number.isFinite(seconds) ? Math.min(seconds * 1_000, retryAfterMsMax) : 0
        refused = { code: response.statusCode, retryAfterMs }
        why = 'the upgrade was refused'
        response.resume()
        socket.terminate()
      })
      socket.on('error', (cause) => void (why ||= cause.message))
      socket.once('close', (code, reason) => {
        cancel()
        resolve({
          code: wasOpen ? code : undefined,
          retryAfterMs: 0,
          ...refused,
          why: why || reason.toString(),
        })
      })
    })
  }

  /** `since`: by symbol, the time after which bars are wanted. */
  subscribe(symbols: readonly string[], since: Readonly<Record<string, number>>): void {
    this.#send({ action: 'subscribe', type: 'bar', symbols, since })
  }

  close(): void {
    this.#socket.close(1000)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }
}

function parseFrame(text: string): Frame | undefined {
  try {
    const frame: unknown = JSON.parse(text)
    return typeof frame === 'object' && frame !== null ? frame : undefined
  } catch {
    return undefined
  }
}

function dispatch(frame: Frame, listener: SocketListener): void {
  const { type, code, symbol, bar, symbols = [], rejected = [], gaps = [] } = frame
  if (type === 'bar' && symbol !== undefined && bar !== undefined) listener.bar(symbol, bar)
  else if (type === 'subscribed') listener.subscribed(symbols, rejected)
  else if (type === 'unsubscribed') listener.unsubscribed(symbols)
  else if (type === 'error' && code === 'GAP') listener.gaps(gaps)
}
