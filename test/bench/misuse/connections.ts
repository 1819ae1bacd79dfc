/** Attacks by plain connections without a key. */
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { type Attack, hostAndPort, repeat, type Scene, shareOf, type Tally } from './attack.ts'

/** Interval at which closed or rejected connections of an attack are opened again. */
const beatMs = 2_000
/** Bytes that a server reads from one connection at once. */
const readBytes = 65_536

export function dial(address: string, tally: Tally): Socket {
  const socket = connect(hostAndPort(address))
  socket.on('connect', () => tally.add('connections'))
  socket.on('error', (error: NodeJS.ErrnoException) => tally.add(error.code ?? 'error'))
  return socket
}

interface Pipeline {
  readonly connections: number
  readonly paths: readonly string[]
  readonly at: (scene: Scene) => string
}

/** Each connection sends 64 KiB of requests at once and reads nothing. Every 2 s new ones replace them. */
export const pipelined =
  ({ connections, paths, at }: Pipeline): Attack =>
  async (scene, tally) => {
    const batches = paths.map((path) => {
      const request = `GET ${path} HTTP/1.1\r\nHost:\r\n\r\n`
      return Buffer.from(request.repeat(Math.floor(readBytes / request.length)))
    })
    let open: Socket[] = []
    const beat = (): void => {
      for (const socket of open) socket.destroy()
      open = Array.from({ length: shareOf(scene, connections) }, (_, i) => {
        const socket = dial(at(scene), tally)
        socket.pause()
        socket.write(batches[i % batches.length] ?? '')
        return socket
      })
    }
    return () => {
      beat()
      setInterval(beat, beatMs)
    }
  }

/** 2,000 endless request heads, one byte per second each. */
export const slowHeads: Attack = async (scene, tally) => {
  const heads: Socket[] = []
  const opened = 50
  return () => {
    const opening = setInterval(() => {
      if (heads.length >= shareOf(scene, 2_000)) return clearInterval(opening)
      repeat(opened, () => {
        const socket = dial(scene.target.url, tally)
        socket.write('GET / HTTP/1.1\r\nX-Slow: ')
        socket.resume()
        socket.on('close', () => tally.add('cut'))
        heads.push(socket)
      })
    }, 20)
    setInterval(() => {
      for (const socket of heads) if (socket.writable) socket.write('a')
    }, 1_000)
  }
}

/** 2,000 upgrades with an unknown key, 50 at a time. */
export const wrongKeys: Attack = async (scene, tally) => {
  let left = shareOf(scene, 2_000)
  const next = (): void => {
    if (left-- <= 0) return
    const key = `fxd_${left.toString(16).padStart(32, '0')}`
    const socket = new WebSocket(`${scene.target.ws}/v1/stream?api_key=${key}`)
    socket.on('unexpected-response', (request, response) => {
      tally.add(`status ${response.statusCode}`)
      request.destroy()
      next()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      tally.add(error.code ?? 'error')
      setTimeout(next, 100)
    })
  }
  return () => repeat(shareOf(scene, 50), next)
}
