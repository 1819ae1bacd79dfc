import type { Socket } from 'node:net'

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`

/** The open connections of a gRPC server that have had no call with a valid credential. */
export class UnauthenticatedConnections {
  /** By the peer that grpc-js reports of a call; the one that is open longest is first. */
  readonly #sockets = new Map<string, Socket>()

  add(socket: Socket): void {
    const peer = peerOf(socket)
    this.#sockets.set(peer, socket)
    socket.once('close', () => {
      if (this.#sockets.get(peer) === socket) this.#sockets.delete(peer)
    })
  }

  /** A call of this peer had a valid credential. */
  authenticated(peer: string): void {
    this.#sockets.delete(peer)
  }

  /** Closes the one that is open longest; returns false if there is none. */
  closeOldest(): boolean {
    for (const [peer, socket] of this.#sockets) {
      this.#sockets.delete(peer)
      socket.destroy()
      return true
    }
    return false
  }
}
