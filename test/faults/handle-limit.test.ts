import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { statusOf } from '../support/cluster/answers.ts'
import { startChildService } from '../support/processes/child-service.ts'
import { countInLog } from './support/log-messages.ts'

/** Opens connections that send nothing; resolves once the system connected all. */
async function silentConnections(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

const shortages = 'fxd_handle_shortages_total'

test('under a limit of 160 file handles 300 silent connections to each port starve no port', async () => {
  const service = await startChildService({ first: 'ulimit -n 160' })
  const { httpPort, grpcPort, opsPort, log } = service
  expect(countInLog(log, 'low limit of file handles')).toBe(1)
  expect(readFileSync(log, 'utf8')).toMatch(
    /"limit":160,"needed":\d{5},"http":\d\d,"sockets":\d\d,"grpc":\d\d,"ops":\d,/,
  )

  for (const port of [grpcPort, httpPort, opsPort]) {
    await silentConnections(port, 300)
    expect(await statusOf(httpPort, '/v1/config')).toBe(200)
    expect(await statusOf(opsPort, '/readyz')).toBe(200)
  }
  expect(await service.metric(shortages)).toBe(0)
  expect(await service.stop(15_000)).toBe(0)
})

test('a shortage of file handles is counted and logged once, and fxd recovers', async () => {
  const service = await startChildService({ first: 'ulimit -n 14000' })
  execFileSync('prlimit', ['--pid', String(service.child.pid), '--nofile=160'])
  const sockets = await silentConnections(service.grpcPort, 300)
  await expect.poll(() => countInLog(service.log, 'file handles unavailable'), { timeout: 10_000 }).toBe(1)
  for (const socket of sockets) socket.destroy()

  await expect.poll(() => statusOf(service.httpPort, '/v1/config'), { timeout: 20_000 }).toBe(200)
  await expect.poll(() => statusOf(service.opsPort, '/readyz'), { timeout: 20_000 }).toBe(200)
  expect(await service.metric(shortages)).toBeGreaterThan(0)
  expect(countInLog(service.log, 'file handles unavailable')).toBe(1)
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
