import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../acceptance/client/command.ts'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { startQuestdb } from '../../support/questdb/server.ts'
import { writeRepeated } from '../../support/samples/repeated-export.ts'
import { feed } from '../support/bench-feed.ts'
import { timed } from '../support/figures.ts'
import { TerminalBench, type TerminalBenchOptions } from './terminal-bench.ts'

const depthDays = 10
const deadlineMs = 180_000
/** All minutes of ten days, less those that close while the bench runs. */
const barsOfSymbol = depthDays * 1_440 - 5
/** Delay in each direction: as on a line of 50 ms there and back on which each post opens a connection. */
const lineMs = 50
const barsImported = 1_000_000
const importDeadlineMs = 600_000

/** Bars in a second, from the first hello until all are stored. */
async function historyOf(bench: TerminalBench, symbols: number, port?: number): Promise<number> {
  const before = await bench.stored()
  const bars = symbols * barsOfSymbol
  const tookMs = await timed(async () => {
    bench.begin('history', port)
    await bench.untilStored(before + bars, deadlineMs)
  })
  return (bars / tookMs) * 1_000
}

async function withBench<T>(
  options: Omit<TerminalBenchOptions, 'depthDays'>,
  use: (bench: TerminalBench) => Promise<T>,
): Promise<T> {
  const bench = await TerminalBench.start({ ...options, depthDays })
  try {
    return await use(bench)
  } finally {
    await bench.stop()
  }
}

/** History of a terminal into the embedded store. */
export const embeddedHistory = (symbols: number): Promise<number> =>
  withBench({ symbols }, (bench) => historyOf(bench, symbols))

/** The same over a line with a delay. */
export const delayedHistory = (symbols: number): Promise<number> =>
  withBench({ symbols }, async (bench) => {
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: bench.terminalPort })
    const delay = { kind: 'delay', ms: lineMs } as const
    proxy.set({ up: delay, down: delay })
    try {
      return await historyOf(bench, symbols, proxy.port)
    } finally {
      await proxy.close()
    }
  })

async function importOnce(
  { service }: TerminalBench,
  path: string,
  symbol: string,
  bars: number,
): Promise<number> {
  const args = [path, '--feed', feed, '--symbol', symbol, '--resolution', '1', '--json']
  const tookMs = await timed(async () => {
    const { code, stderr } = await run(service.target.importer, args, importDeadlineMs)
    if (code !== 0) throw new Error(`the import ended with ${code}: ${stderr}`)
  })
  return (bars / tookMs) * 1_000
}

/** History of a terminal into QuestDB, between two imports of a file. */
export async function questdbHistory(symbols: number): Promise<{ history: number; imported: number }> {
  const server = await startQuestdb({ memory: '512m', settings: { QDB_SHARED_WORKER_COUNT: '4' } })
  const folder = mkdtempSync(join(tmpdir(), 'fxd-bench-export-'))
  const env = {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${server.http.host}:${server.http.port}`,
    FXD_QUESTDB_PG: `${server.pg.host}:${server.pg.port}`,
  }
  try {
    const path = join(folder, 'export.csv')
    const { bars } = writeRepeated(path, barsImported)
    return await withBench({ symbols, env }, async (bench) => {
      const first = await importOnce(bench, path, 'FIRST', bars)
      const history = await historyOf(bench, symbols)
      const second = await importOnce(bench, path, 'SECOND', bars)
      return { history, imported: (first + second) / 2 }
    })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
