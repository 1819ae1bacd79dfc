import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type WebSocket as Peer, WebSocketServer } from 'ws'
import { Socket, type SocketEnd } from './socket.ts'

const opened: { server: WebSocketServer; socket: Socket }[] = []
afterEach(() => {
  for (const { server, socket } of opened.splice(0)) {
    socket.close()
    for (const client of server.clients) client.terminate()
    server.close()
  }
})

/** A socket to a peer that answers nothing by itself. */
async function open() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const ends: SocketEnd[] = []
  const frames: object[] = []
  const { port } = server.address() as AddressInfo
  const connected = once(server, 'connection') as Promise<[Peer]>
  const socket = new Socket(`ws://127.0.0.1:${port}`, {
    received: (frame) => void frames.push(frame),
    ended: (end) => void ends.push(end),
  })
  opened.push({ server, socket })
  const [peer] = await connected
  await expect.poll(() => socket.isSound).toBe(true)
  return { socket, peer, ends, frames }
}

test('a socket that is silent for 30 ticks ends although its peer never closes it', async () => {
  const { socket, ends } = await open()
  for (let tick = 0; tick < 14; tick++) socket.tick()
  expect(socket.isSound).toBe(true)
  socket.tick()
  expect(socket.isSound).toBe(false)
  for (let tick = 0; tick < 15; tick++) socket.tick()
  expect(ends).toEqual([])
  socket.tick()
  expect(ends).toEqual([{ wasOpen: true, code: 0, reason: 'silent' }])
})

test('a frame ends the silence', async () => {
  const { socket, peer, ends, frames } = await open()
  for (let tick = 0; tick < 30; tick++) socket.tick()
  peer.send('{"type":"pong"}')
  await expect.poll(() => frames).toEqual([{ type: 'pong' }])
  for (let tick = 0; tick < 30; tick++) socket.tick()
  expect(ends).toEqual([])
})

test('the code and reason of a close are passed on', async () => {
  const { peer, ends } = await open()
  peer.close(4500, 'key revoked')
  await expect.poll(() => ends).toEqual([{ wasOpen: true, code: 4500, reason: 'key revoked' }])
})

test('a frame that is not JSON ends the socket', async () => {
  const { peer, ends } = await open()
  peer.send('<html>')
  await expect.poll(() => ends).toEqual([{ wasOpen: true, code: 0, reason: 'a frame is not JSON' }])
})
