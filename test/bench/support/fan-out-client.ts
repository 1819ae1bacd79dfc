/** The clients of fan-out.ts, in a separate process: plain sockets that count bytes. */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface ClientOrder {
  readonly port: number
  readonly path: string
  readonly sockets: number
  readonly perSocket: number
  readonly symbols: readonly string[]
  /** Bytes of one bar on the wire. */
  readonly messageBytes: number
}

/** Arrival of the last byte, of half and of 99 % of all bytes, in milliseconds of the monotonic clock. */
export interface BurstReport {
  readonly last: number
  readonly p50: number
  readonly p99: number
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6
const quietMs = 300

let seed = 1
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

function pick(symbols: readonly string[], count: number): string[] {
  const all = [...symbols]
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (all.length - i))
    ;[all[i], all[j]] = [all[j] as string, all[i] as string]
  }
  return all.slice(0, count)
}

/** A text frame with a mask of zeroes. */
function frame(text: string): Buffer {
  const bytes = Buffer.from(text)
  const size = bytes.length < 126 ? [0x80 | bytes.length] : [0xfe, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from([0x81, ...size, 0, 0, 0, 0]), bytes])
}

async function open(order: ClientOrder, onBytes: (count: number) => void): Promise<void> {
  const { port, path, symbols, perSocket } = order
  const shared = Buffer.alloc(1_048_576)
  const handshake =
    `GET ${path} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  for (let n = 0; n < order.sockets; n++) {
    await new Promise<void>((resolve) => {
      let upgraded = false
      const socket = connect({
        port,
        host: '127.0.0.1',
        onread: {
          buffer: shared,
          callback(count) {
            onBytes(count)
            if (upgraded) return true
            upgraded = true
            socket.write(frame(JSON.stringify({ action: 'subscribe', symbols: pick(symbols, perSocket) })))
            resolve()
            return true
          },
        },
      })
      socket.on('error', (error) => {
        throw error
      })
      socket.write(handshake)
    })
  }
}

process.once('message', (order: ClientOrder) => void serve(order))

async function serve(order: ClientOrder): Promise<void> {
  const expected = order.sockets * order.perSocket * order.messageBytes
  let arrivals: { at: number; bytes: number }[] = []
  let bytes = 0
  let lastAt = nowMs()
  let counting = false
  await open(order, (received) => {
    lastAt = nowMs()
    if (!counting) return
    arrivals.push({ at: lastAt, bytes: received })
    bytes += received
    if (bytes < expected) return
    if (bytes > expected) throw new Error(`got ${bytes} bytes, expected ${expected}`)
    process.send?.(report(arrivals, bytes))
    arrivals = []
    bytes = 0
  })
  while (nowMs() - lastAt < quietMs) await pause(50)
  counting = true
  process.send?.('ready')
}

function report(arrivals: readonly { at: number; bytes: number }[], total: number): BurstReport {
  const at = (share: number): number => {
    let seen = 0
    for (const arrival of arrivals) {
      seen += arrival.bytes
      if (seen >= total * share) return arrival.at
    }
    return Number.NaN
  }
  return { last: at(1), p50: at(0.5), p99: at(0.99) }
}
