/** The clients of rows.ts, in a separate process: sockets that parse every frame. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface RowsOrder {
  readonly url: string
  readonly sockets: number
  readonly feed: string
  readonly format?: 'rows'
  /** Bars of one burst over all sockets. */
  readonly bars: number
}

/** What the clients used since the last burst. */
export interface RowsReport {
  readonly cpuUs: number
  readonly bytes: number
}

interface Frame {
  readonly type: string
  readonly bars?: readonly unknown[]
}

process.once('message', (order: RowsOrder) => void serve(order))

async function serve({ url, sockets, feed, format, bars }: RowsOrder): Promise<void> {
  let left = bars
  let bytes = 0
  let cpu = process.cpuUsage()
  const receive = (text: string): void => {
    bytes += text.length
    const frame = JSON.parse(text) as Frame
    if (frame.type === 'bar') left -= 1
    else if (frame.type === 'bars') left -= frame.bars?.length ?? 0
    if (left > 0) return
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ cpuUs: user + system, bytes } satisfies RowsReport)
    left = bars
    bytes = 0
    cpu = process.cpuUsage()
  }
  for (let n = 0; n < sockets; n++) {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'message')
    socket.send(JSON.stringify({ action: 'subscribe', feeds: [feed], format }))
    await once(socket, 'message')
    socket.on('message', (data: Buffer) => receive(String(data)))
  }
  cpu = process.cpuUsage()
  process.send?.('ready')
}
