import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { statusOf } from '../support/cluster/answers.ts'
import { startChildService } from '../support/processes/child-service.ts'
import { countInLog } from './support/log-messages.ts'

const shortages = 'fxd_handle_shortages_total'

test('a low limit of file handles: the start logs a warning, a shortage is counted and logged once, and fxd recovers', async () => {
  const service = await startChildService({ first: 'ulimit -n 160' })
  const { log } = service
  expect(countInLog(log, 'low limit of file handles')).toBe(1)
  expect(readFileSync(log, 'utf8')).toMatch(/"limit":160,"needed":\d{5},/)

  const sockets: Socket[] = []
  for (let n = 0; n < 300; n += 1) {
    const socket = connect(service.grpcPort, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  await expect.poll(() => countInLog(log, 'file handles unavailable'), { timeout: 10_000 }).toBe(1)
  for (const socket of sockets) socket.destroy()

  await expect.poll(() => statusOf(service.httpPort, '/v1/config'), { timeout: 20_000 }).toBe(200)
  await expect.poll(() => statusOf(service.opsPort, '/readyz'), { timeout: 20_000 }).toBe(200)
  expect(await service.metric(shortages)).toBeGreaterThan(0)
  expect(countInLog(log, 'file handles unavailable')).toBe(1)
  expect(await service.stop(15_000)).toBe(0)
})

test('a sufficient limit of file handles: the start logs no warning', async () => {
  const service = await startChildService({
    first: 'ulimit -n 14000',
    env: { FXD_STREAM_CONNECTIONS_MAX: '100' },
  })
  expect(countInLog(service.log, 'low limit of file handles')).toBe(0)
  expect(await service.metric(shortages)).toBe(0)
  expect(await service.metric('fxd_grpc_connections')).toBe(0)
  expect(await service.stop(15_000)).toBe(0)
})
