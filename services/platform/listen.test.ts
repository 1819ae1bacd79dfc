import { expect, test } from 'vitest'
import { formatAddress, listenFailure, reachable } from './listen.ts'

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
