import { expect, test } from 'vitest'
import type { Administration } from '../exec.ts'
import { TableNames } from '../layout/tables.ts'
import { examineTables } from './examine-tables.ts'

const parameters = (kept: number) => [
  ['cairo.commit.mode', 'sync'],
  ['cairo.inactive.reader.max.open.partitions', String(kept)],
]

/** A server with this number of tables and these limits; limits that are not given are high. */
const serverOf = (
  tables: number,
  limits: { files?: number; maps?: number } = {},
  { partitions = 0, kept = 64 } = {},
): Administration => ({
  exec: async (sql) => {
    if (sql.includes('SHOW PARAMETERS')) return parameters(kept)
    if (sql.includes('table_storage()')) return [['fxd_bars_broker_acc0_h1', partitions]]
    if (sql.includes('table_columns')) return columnRows(barColumns)
    return sql.includes('FROM all_tables()') || sql.includes('sequencerTxn')
      ? Array.from({ length: tables }, (_, i) => [`fxd_bars_broker_acc${i}_h1`, 0])
      : []
  },
  warnings: async () =>
    Object.entries({ 'TOO MANY OPEN FILES': limits.files, 'OUT OF MMAP AREAS': limits.maps }).flatMap(
      ([tag, current]) =>
        current === undefined
          ? []
          : [{ tag, warning: `a limit is too low [current=${current}, recommended=9]` }],
    ),
  ping: async () => undefined,
})

const examined = async (admin: Administration, about: string) =>
  (await examineTables(new TableNames('fxd_'), admin)).find((finding) => finding.about === about)

test.each([
  [100, undefined, 'ok', 'up to 5400 of 1048576 or more'],
  [100, 65_536, 'ok', 'up to 5400 of 65536'],
  [100, 8_192, 'warning', 'up to 5400 of 8192'],
  [100, 4_096, 'wrong', 'up to 5400 of 4096'],
] as const)(
  '%i tables with a limit of %s open files are reported as %s',
  async (tables, files, state, found) => {
    const limits = files === undefined ? {} : { files }
    const finding = await examined(serverOf(tables, limits), 'file handles')
    expect(finding).toMatchObject({ state, found })
    if (state !== 'ok') expect(finding?.cure).toContain('ulimit -n 1048576')
  },
)

test('a low limit of memory maps is reported with its own cure', async () => {
  const finding = await examined(serverOf(200, { maps: 10_000 }), 'memory maps')
  expect(finding?.state).toBe('wrong')
  expect(finding?.cure).toContain('vm.max_map_count=')
})

test.each([
  [10_000, 3_000, 'warning', '3000 partitions need 33054 of 65530'],
  [10_000, 10_000, 'wrong', '10000 partitions need 110054 of 65530'],
  [64, 10_000, 'ok', '10000 partitions need 758 of 65530'],
] as const)(
  'a server whose idle readers keep %i partitions and that has %i of them in a table is reported as %s',
  async (kept, partitions, state, found) => {
    const finding = await examined(serverOf(1, { maps: 65_530 }, { partitions, kept }), 'memory maps')
    expect(finding).toMatchObject({ state, found })
    if (state !== 'ok')
      expect(finding?.cure).toContain('set QDB_CAIRO_INACTIVE_READER_MAX_OPEN_PARTITIONS=64 and restart')
  },
)

test.each([
  [300, 'ok'],
  [301, 'warning'],
] as const)('%i tables are reported as %s', async (tables, state) => {
  expect(await examined(serverOf(tables), 'tables')).toMatchObject({ state })
})

/** The columns of a table of bars. */
const barColumns: Readonly<Record<string, string | undefined>> = {
  ts: 'TIMESTAMP',
  sym: 'SYMBOL',
  rev: 'LONG',
  taken: 'LONG',
  o: 'DOUBLE',
  h: 'DOUBLE',
  l: 'DOUBLE',
  c: 'DOUBLE',
  v: 'LONG',
}
const columnRows = (columns: typeof barColumns) => Object.entries(columns).filter(([, type]) => type)

/** A server with one table that is suspended for this reason or has these columns, or with parked rows. */
const serverWith = (of: {
  suspended?: readonly [tag: string, message: string]
  parked?: number
  columns?: Readonly<Record<string, string | undefined>>
}): Administration => ({
  ...serverOf(0),
  exec: async (sql) => {
    const table = 'fxd_bars_broker_acc_h1'
    if (sql.includes('WHERE suspended')) return of.suspended ? [[table, ...of.suspended]] : []
    if (sql.includes('SHOW PARAMETERS')) return parameters(64)
    if (sql.includes('table_columns')) return columnRows(of.columns ?? barColumns)
    if (sql.includes('count()')) return [[of.parked ?? 0]]
    return sql.includes('all_tables()') || sql.includes('sequencerTxn')
      ? [
          [table, 0],
          ['fxd_parked', 0],
        ]
      : []
  },
})

test('a finding says who resumes a suspended table: fxd if it has a reason, else a person', async () => {
  const resume = "run: ALTER TABLE 'fxd_bars_broker_acc_h1' RESUME WAL"
  const byItself = await examined(
    serverWith({ suspended: ['DISK FULL', 'no space left'] }),
    'suspended table',
  )
  expect(byItself?.state).toBe('wrong')
  expect(byItself?.found).toContain('(DISK FULL: no space left)')
  expect(byItself?.cure).toMatch(/remove the cause.*; fxd tries to resume the table every 30 s/)
  expect(byItself?.cure).toContain(resume)
  const byHand = await examined(serverWith({ suspended: ['', ''] }), 'suspended table')
  expect(byHand?.cure).not.toContain('fxd tries')
  expect(byHand?.cure).toContain('somebody suspended it; when the work is finished')
  expect(byHand?.cure).toContain(resume)
})

test('parked rows of an earlier release are named until a person drops their table', async () => {
  expect(await examined(serverWith({ parked: 0 }), 'parked rows')).toBeUndefined()
  expect(await examined(serverWith({ parked: 7 }), 'parked rows')).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(/^7 rows /) as string,
    cure: expect.stringContaining("DROP TABLE 'fxd_parked'") as string,
  })
})

test.each([
  [{ v: 'SHORT' }, "ALTER TABLE 'fxd_bars_broker_acc_h1' ALTER COLUMN v TYPE LONG"],
  [{ v: undefined }, "ALTER TABLE 'fxd_bars_broker_acc_h1' ADD COLUMN v LONG"],
  [{ note: 'VARCHAR' }, undefined],
])(
  'a table with the columns of fxd and %o is reported with its cure, if it may reject rows',
  async (changes, cure) => {
    const finding = await examined(serverWith({ columns: { ...barColumns, ...changes } }), 'altered table')
    if (cure === undefined) expect(finding).toBeUndefined()
    else expect(finding).toMatchObject({ state: 'wrong', cure: `run: ${cure}` })
  },
)
