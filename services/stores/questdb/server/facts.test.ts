import { expect, test } from 'vitest'
import type { Administration } from '../exec.ts'
import { serverFacts } from './facts.ts'

const serverOf = (
  build: string,
  mode: string,
  more: readonly (readonly [string, string])[] = [],
): Administration => ({
  exec: async (sql) => (sql === 'SELECT build' ? [[build]] : [['cairo.commit.mode', mode], ...more]),
  warnings: async () => [],
  ping: async () => undefined,
})

test.each([
  ['9.3.4', false],
  ['9.3.3', true],
  ['9.2.9', true],
  ['8.10.10', true],
  ['9.4', false],
  ['9.10.0', false],
  ['10.0.0', false],
])('whether QuestDB %s is too old: %s', async (version, isTooOld) => {
  const build = `Build Information: QuestDB ${version}, JDK 17.0.1, Commit Hash 9.9.9`
  expect(await serverFacts(serverOf(build, 'nosync'))).toMatchObject({ version, isTooOld })
})

test('a server of unknown version is accepted', async () => {
  expect(await serverFacts(serverOf('a build of mine', 'sync'))).toMatchObject({
    version: undefined,
    isTooOld: false,
  })
})

test.each([
  ['sync', true],
  ['nosync', false],
  ['async', false],
  ['adaptive', false],
])('whether commits in the mode %s survive a loss of power: %s', async (mode, isSynced) => {
  expect(await serverFacts(serverOf('', mode))).toMatchObject({ commitMode: mode, isSynced })
})

test.each([
  ['false', 'false', false],
  ['true', 'false', true],
  ['false', 'true', true],
])(
  'a server that makes tables (%s) or columns (%s) by itself is detected: %s',
  async (tables, columns, makesTables) => {
    const parameters = [
      ['line.auto.create.new.tables', tables],
      ['line.auto.create.new.columns', columns],
    ] as const
    expect((await serverFacts(serverOf('', 'sync', parameters))).makesTables).toBe(makesTables)
  },
)

test.each([
  ['2', '0', 2],
  ['4', '0', 4],
  ['2', '6', 6],
])(
  'a server with %s shared network workers and %s of HTTP answers HTTP with %i',
  async (shared, own, count) => {
    const parameters = [
      ['shared.worker.count', '9'],
      ['shared.network.worker.count', shared],
      ['http.worker.count', own],
    ] as const
    expect((await serverFacts(serverOf('', 'sync', parameters))).httpWorkers).toBe(count)
  },
)

test('a server that lists no workers has an unknown number of workers', async () => {
  expect((await serverFacts(serverOf('', 'sync'))).httpWorkers).toBeUndefined()
})
