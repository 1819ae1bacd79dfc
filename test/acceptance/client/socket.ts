import { WebSocket } from 'ws'
import { target } from './target.ts'
import { until } from './until.ts'

export interface Message {
  readonly type: string
  readonly [field: string]: unknown
}

export interface BarMessage extends Message {
  readonly type: 'bar'
  readonly symbol: string
  readonly bar: { time: number; open: number; high: number; low: number; close: number; volume: number }
}

/** A socket on /v1/stream that remembers every frame as it came. */
export class StreamSocket {
  readonly frames: string[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  readonly raw: WebSocket
  #unread = 0

  constructor(raw: WebSocket) {
    this.raw = raw
    raw.on('message', (data, binary) => this.frames.push(binary ? '<binary>' : String(data)))
    this.closed = new Promise((resolve) => {
      raw.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
    raw.on('error', () => undefined)
  }

  send(message: unknown): void {
    this.raw.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  get messages(): Message[] {
    return this.frames.map((frame) => JSON.parse(frame) as Message)
  }

  /** The next frame of a type (frames of other types are passed over). */
  async next<M extends Message = Message>(type: string, deadlineMs = 10_000): Promise<M> {
    return until(
      `a "${type}" frame`,
      () => {
        while (this.#unread < this.frames.length) {
          const message = JSON.parse(this.frames[this.#unread++] ?? '') as Message
          if (message.type === type) return message as M
        }
        return undefined
      },
      deadlineMs,
    )
  }

  async subscribe(symbols: readonly string[]): Promise<{ symbols: string[]; rejected: string[] }> {
    this.send({ action: 'subscribe', symbols, type: 'bar' })
    return this.next('subscribed') as unknown as Promise<{ symbols: string[]; rejected: string[] }>
  }

  /** Everything sent so far has been answered: the service reads one message after the other. */
  async settled(): Promise<void> {
    this.send({ action: 'ping' })
    await this.next('pong')
  }

  bars(symbol?: string): BarMessage[] {
    const all = this.messages.filter((message): message is BarMessage => message.type === 'bar')
    return symbol === undefined ? all : all.filter((message) => message.symbol === symbol)
  }

  async close(): Promise<void> {
    this.raw.close(1000)
    await this.closed
  }
}

const opened: StreamSocket[] = []

/** Opens a socket with the key in the query, or by `headers`; rejects when the upgrade is refused. */
export const connect = (
  key: string | undefined,
  { headers = {}, from }: { headers?: Record<string, string>; from?: string } = {},
): Promise<StreamSocket> =>
  new Promise((resolve, reject) => {
    const suffix = key === undefined ? '' : `?api_key=${key}`
    const raw = new WebSocket(`${target().ws}/v1/stream${suffix}`, {
      headers,
      perMessageDeflate: false,
      ...(from === undefined ? {} : { localAddress: from }),
    })
    const socket = new StreamSocket(raw)
    opened.push(socket)
    raw.once('open', () => resolve(socket))
    raw.once('error', reject)
  })

/** For `afterEach`: no test leaves a socket behind. */
export const closeSockets = (): void => {
  for (const socket of opened.splice(0)) socket.raw.terminate()
}
