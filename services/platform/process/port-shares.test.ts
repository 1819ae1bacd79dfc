import { expect, test } from 'vitest'
import { portShares } from './port-shares.ts'

const all = { http: 20_000, sockets: 10_000, grpc: 2_000 }

test.each([
  [Number.POSITIVE_INFINITY, { ...all, ops: 1_000 }],
  [23_500, { ...all, ops: 1_000 }],
  [23_499, { ...all, http: 19_999, sockets: 10_000, ops: 1_000 }],
  [1_024, { http: 315, sockets: 158, grpc: 157, ops: 52 }],
  [160, { http: 48, sockets: 24, grpc: 24, ops: 8 }],
  [10, { http: 4, sockets: 2, grpc: 4, ops: 4 }],
])('with a limit of %d file handles the ports of one process share %o', (limit, shares) => {
  expect(portShares(all, limit)).toEqual(shares)
})

test.each([
  [
    { http: 10_000, sockets: 0, grpc: 0 },
    { http: 72, sockets: 0, grpc: 0, ops: 8 },
  ],
  [
    { http: 0, sockets: 0, grpc: 2_000 },
    { http: 0, sockets: 0, grpc: 72, ops: 8 },
  ],
  [
    { http: 0, sockets: 0, grpc: 0 },
    { http: 0, sockets: 0, grpc: 0, ops: 80 },
  ],
])('a port that a process does not have gets no share: %o gets %o of 160', (wanted, shares) => {
  expect(portShares(wanted, 160)).toEqual(shares)
})
