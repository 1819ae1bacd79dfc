import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { formatAddress, listen, listenFailure, reachable } from './listen.ts'

test.each([
  ['0.0.0.0', '127.0.0.1:80'],
  ['::', '[::1]:80'],
  ['10.1.2.3', '10.1.2.3:80'],
])('for a service that listens on %s the client address is %s', (host, address) => {
  expect(formatAddress(reachable({ host, port: 80 }))).toBe(address)
})

test.each([
  ['listen EADDRINUSE: address already in use', 'is in use by another program, or by an fxd that still runs'],
  [
    'No address added out of total 1 resolved\nerrors: [listen EACCES: permission denied]',
    'requires more rights',
  ],
  ['listen EADDRNOTAVAIL', 'is not an address of this machine'],
  ['something else', 'cannot be listened on (something else)'],
])('"%s" becomes an error that names the variable to set', (text, reason) => {
  const failure = listenFailure({ host: '127.0.0.1', port: 8090 }, 'FXD_GRPC_ADDR', new Error(text))
  expect(failure.exit).toBe('system')
  expect(failure.message).toContain(reason)
  expect(failure.message).toContain('FXD_GRPC_ADDR=127.0.0.1:8091')
})

test('1,000 connections at once wait to be accepted: none is dropped, which would try again after a second', async () => {
  const server = createServer((socket) => socket.destroy())
  onTestFinished(() => void server.close())
  const port = await listen(server, { host: '127.0.0.1', port: 0 }, 'FXD_HTTP_ADDR')
  // Its own address, a port in hexadecimal, and the state of an established connection.
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const established = new RegExp(` [0-9A-F]{8}:[0-9A-F]{4} [0-9A-F]{8}:${hexPort} 01 `, 'g')
  // Only Linux has these files. Its own maximum may be less.
  const isKnown = existsSync('/proc/net/tcp')
  const systemMax = isKnown ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 1_000
  // The file may have a row twice if other connections change meanwhile.
  const open = (): number =>
    isKnown ? new Set(readFileSync('/proc/net/tcp', 'utf8').match(established)).size : sockets.length
  const sockets = Array.from({ length: Math.min(1_000, systemMax) }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  )
  await new Promise<void>((resolve) => process.nextTick(resolve))
  // The event loop does not turn here, so nothing is accepted.
  const end = performance.now() + 900
  while (open() < sockets.length && performance.now() < end);
  expect(open()).toBe(sockets.length)
  for (const socket of sockets) socket.destroy()
})
