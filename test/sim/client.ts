import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import type { StreamSocket } from '../../services/stream/connection/connection.ts'
import type { BarFrame, SocketRecord } from './checks/record.ts'
import type { Network } from './runtime/network.ts'
import type { SimProcess, Timeline } from './runtime/timeline.ts'

const openState = 1
const closingState = 2

/** The server's end of a socket, with the methods of the library that stream uses. Frames arrive late, in order, or never. */
export class SimSocket extends EventEmitter {
  connection: StreamSocket['connection']
  readyState = openState
  readonly raw: Duplex
  readonly #server: SimProcess
  readonly #client: string
  readonly #network: Network
  readonly #timeline: Timeline
  readonly #deliver: (text: string) => void
  readonly #closed: (code: number) => void
  #at = 0
  #paused = false
  #isCut = false

  constructor(
    server: SimProcess,
    client: string,
    network: Network,
    timeline: Timeline,
    to: { deliver(text: string): void; closed(code: number): void },
  ) {
    super()
    this.#server = server
    this.#client = client
    this.#network = network
    this.#timeline = timeline
    this.#deliver = to.deliver
    this.#closed = to.closed
    this.raw = {
      writableLength: 0,
      writableNeedDrain: false,
      bytesWritten: 0,
      write: (frames: string) => this.#write(frames),
    } as unknown as Duplex
  }

  get isPaused(): boolean {
    return this.#paused
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
  }

  pong(): void {
    // Simulated clients send messages instead of ping frames.
  }

  /** Sends a message of the client to the server. */
  sendAsClient(text: string): void {
    this.#later(() => this.readyState === openState && this.emit('message', Buffer.from(text), false))
  }

  close(code = 1005): void {
    if (this.readyState !== openState) return
    const finish = (): void => {
      this.readyState = closingState
      this.#later(() => this.#closed(code))
      this.terminate()
    }
    if (this.connection) this.connection.leaveThen(code, finish)
    else finish()
  }

  terminate(): void {
    this.readyState = closingState
    this.#timeline.at(0, () => this.#server.alive && this.emit('close'))
  }

  #write(frames: string): void {
    const texts = textsOf(frames)
    this.#later(() => texts.forEach(this.#deliver))
  }

  #later(run: () => void): void {
    this.#at = Math.max(this.#at, this.#timeline.nowMs + this.#network.delayMs())
    this.#timeline.at(this.#at - this.#timeline.nowMs, () => {
      this.#isCut ||= this.#network.isCut(this.#client, this.#server.name)
      if (!this.#isCut && this.#server.alive) run()
    })
  }
}

/** The payloads of encoded WebSocket frames. */
function textsOf(frames: string): string[] {
  const bytes = Buffer.from(frames, 'latin1')
  const texts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    let length = (bytes[at + 1] as number) & 127
    at += 2
    if (length === 126) {
      length = bytes.readUInt16BE(at)
      at += 2
    } else if (length === 127) {
      length = Number(bytes.readBigUInt64BE(at))
      at += 8
    }
    texts.push(bytes.toString('utf8', at, at + length))
    at += length
  }
  return texts
}

/** Adds a received message to the record of its socket. */
export function note(record: SocketRecord, text: string, at: number): void {
  const message = JSON.parse(text) as {
    type: string
    symbol: string
    symbols?: string[]
    bar: BarFrame
    code?: string
    time: number
    since?: { [symbol: string]: number }
    gaps?: { symbol: string; after?: number; until?: number }[]
  }
  if (message.type === 'bar') record.seen.push({ type: 'bar', symbol: message.symbol, bar: message.bar })
  else if (message.type === 'minute') record.seen.push({ type: 'minute', time: message.time })
  else if (message.type === 'subscribed') {
    record.seen.push({ type: 'subscribed', symbols: message.symbols ?? [], at })
    for (const [symbol, time] of Object.entries(message.since ?? {})) record.since.set(symbol, time)
  } else if (message.code === 'GAP')
    for (const { symbol, after = 0, until = Number.POSITIVE_INFINITY } of message.gaps ?? [])
      record.seen.push({ type: 'gap', symbol, after, until })
}
