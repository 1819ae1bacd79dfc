import type { RawData, WebSocket } from 'ws'
import { closings } from '../connection/close-codes.ts'
import type { Connection, StreamSocket } from '../connection/connection.ts'
import type { Throttle } from './throttle.ts'

const nothing = (): void => undefined
/** The code of RFC 6455 for a connection that ended without a close frame. */
const abnormalClosure = 1006

/** Returns a function that adds listeners to a socket. All sockets share them: the library passes the socket as `this`. */
export function createListeners(
  throttle: Throttle,
  onGone: (socket: StreamSocket) => void,
): (socket: StreamSocket) => void {
  function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
    receive(this, (connection) => {
      if (isBinary) connection.end(closings.unsupportedData)
      else throttle.message(connection, String(data))
    })
  }
  function onPing(this: WebSocket, payload: Buffer): void {
    receive(this, (connection) => throttle.ping(connection, payload))
  }
  function onPong(this: WebSocket): void {
    receive(this, (connection) => throttle.pong(connection))
  }
  function receive(socket: WebSocket, take: (connection: Connection) => void): void {
    const { connection } = socket as StreamSocket
    connection?.attempt(() => (connection.open ? take(connection) : throttle.afterClose(connection)))
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
