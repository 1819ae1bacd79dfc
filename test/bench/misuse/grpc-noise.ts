/** Attacks on the port of the collectors, by clients without a token. */
import { randomBytes } from 'node:crypto'
import { connect, constants } from 'node:http2'
import { type Attack, repeat, shareOf } from './attack.ts'
import { dial } from './connections.ts'

const beatMs = 1_000
const noiseBytes = 65_536
/** Depth that would exhaust the stack of a recursive decoder; one byte opens a protobuf group. */
const nestedGroups = 250_000

/** 1,000 silent connections; closed ones are opened again. */
export const silentGrpc: Attack = async (scene, tally) => {
  const open = (): void => {
    const socket = dial(scene.target.grpc, tally)
    socket.resume()
    socket.on('close', () => {
      tally.add('closed')
      setTimeout(open, beatMs)
    })
  }
  return () => repeat(shareOf(scene, 1_000), open)
}

/** Each second 25 connections of random bytes, 25 of a broken HTTP/2 session, and 25 calls with nested groups. */
export const grpcGarbage: Attack = async (scene, tally) => {
  const noise = randomBytes(noiseBytes)
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const groups = Buffer.alloc(5 + nestedGroups, 0x0b)
  groups.writeUInt8(0, 0)
  groups.writeUInt32BE(nestedGroups, 1)

  const bytes = (first: Buffer): void => {
    const socket = dial(scene.target.grpc, tally)
    socket.resume()
    socket.write(first)
    socket.on('close', () => tally.add('closed'))
    setTimeout(() => socket.destroy(), beatMs)
  }
  const call = (): void => {
    const session = connect(`http://${scene.target.grpc}`)
    session.on('error', (error: NodeJS.ErrnoException) => tally.add(error.code ?? 'error'))
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: '/fxd.v1.Collector/Session',
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
    })
    stream.on('error', (error: NodeJS.ErrnoException) => tally.add(error.code ?? 'error'))
    stream.on('response', (headers) => tally.add(`grpc-status ${String(headers['grpc-status'])}`))
    stream.resume()
    stream.write(groups)
    setTimeout(() => session.destroy(), beatMs)
  }
  const beat = (): void =>
    repeat(shareOf(scene, 25), () => {
      bytes(noise)
      bytes(Buffer.concat([preface, noise]))
      call()
    })
  return () => {
    beat()
    setInterval(beat, beatMs)
  }
}
