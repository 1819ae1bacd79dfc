import type { RawData, WebSocket } from 'ws'
import { closings } from './close-codes.ts'
import type { StreamSocket } from './connection.ts'
import type { Throttle } from './throttle.ts'

const nothing = (): void => undefined
/** What RFC 6455 calls a connection that went away without a close frame. */
const abnormalClosure = 1006

/** Gives what makes a socket heard. The listeners are shared by all: the library calls them with the socket as `this`. */
export function createListeners(
  throttle: Throttle,
  onGone: (socket: StreamSocket) => void,
): (socket: StreamSocket) => void {
  function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
    const { connection } = this as StreamSocket
    if (!connection?.open) return
    connection.attempt(() => {
      if (isBinary) connection.end(closings.unsupportedData)
      else throttle.message(connection, String(data))
    })
  }
  function onPing(this: WebSocket, payload: Buffer): void {
    const { connection } = this as StreamSocket
    if (connection?.open) connection.attempt(() => throttle.ping(connection, payload))
  }
  function onPong(this: WebSocket): void {
    const { connection } = this as StreamSocket
    if (connection?.open) connection.attempt(() => throttle.pong(connection))
  }
  function onClose(this: WebSocket): void {
    const socket = this as StreamSocket
    const { connection } = socket
    connection?.attempt(() => connection.leaveThen(abnormalClosure, nothing))
    onGone(socket)
  }
  return (socket) => {
    socket.on('message', onMessage)
    socket.on('ping', onPing)
    socket.on('pong', onPong)
    socket.on('close', onClose)
    // A protocol fault or a reset; the library closes the socket by itself.
    socket.on('error', nothing)
  }
}
