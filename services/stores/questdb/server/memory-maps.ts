import type { Administration } from '../exec.ts'
import { listTables } from '../layout/make-table.ts'
import type { QuestdbOptions } from '../options.ts'
import { parametersOf } from './facts.ts'

/** Open files per table, measured with one writer's connection; each open file is also mapped. */
export const handlesPerTable = 54
/** Files of one partition of bars that a reader maps: nine columns and the two of the index. */
const mapsPerPartition = 11
/** QuestDB warns of a limit below this value, and reports the limit only then. */
export const recommendedLimit = 1_048_576
/** The partitions that an idle reader keeps open, in the chart. */
export const keptPartitionsMax = 64
const keptPartitionsPath = 'cairo.inactive.reader.max.open.partitions'
const keptPartitionsDefault = 10_000

/** The present limit in the server's warning about its machine. */
export function limitIn(
  warnings: readonly { tag: string; warning: string }[],
  tag: 'TOO MANY OPEN FILES' | 'OUT OF MMAP AREAS',
): number | undefined {
  const current = /current=(\d+)/.exec(warnings.find((each) => each.tag === tag)?.warning ?? '')?.[1]
  return current === undefined ? undefined : Number(current)
}

interface MemoryMaps {
  /** Partitions of all tables of the server. */
  readonly partitions: number
  /** Maps that one reader and the writer of each table keep. */
  readonly needed: number
  /** The limit of the machine; `undefined` if it is at least `recommendedLimit`. */
  readonly limit: number | undefined
  /** Partitions that an idle reader keeps open. */
  readonly kept: number
  /** Bytes of the partitions of all tables, without the write-ahead log. */
  readonly diskBytes: number
}

/** Counts what exists: reading the sizes of a few thousand partitions costs the server about 100 ms. */
export async function memoryMaps(admin: Administration): Promise<MemoryMaps> {
  const tables = await listTables(admin)
  const rows = await admin.exec('SELECT tableName, partitionCount, diskSize FROM table_storage()')
  const counts = rows.map(([, count]) => Number(count))
  const shown = (await parametersOf(admin, [keptPartitionsPath])).get(keptPartitionsPath)
  const kept = Number(shown ?? keptPartitionsDefault)
  const held = counts.reduce((sum, count) => sum + Math.min(count, kept), 0)
  return {
    partitions: counts.reduce((sum, count) => sum + count, 0),
    needed: tables.length * handlesPerTable + held * mapsPerPartition,
    limit: limitIn(await admin.warnings(), 'OUT OF MMAP AREAS'),
    kept,
    diskBytes: rows.reduce((sum, [, , bytes]) => sum + Number(bytes), 0),
  }
}

const periodMs = 60_000

/** Exports what `memoryMaps` counts, once a minute. Returns the function that ends it. */
export function exportMemoryMaps(
  { clock, metrics, log }: Pick<QuestdbOptions, 'clock' | 'metrics' | 'log'>,
  admin: Administration,
): () => void {
  const gauge = (name: string, help: string) => metrics.gauge(name, help, [])
  const partitions = gauge('fxd_questdb_partitions', 'Partitions of all tables of the server.')
  const needed = gauge(
    'fxd_questdb_memory_maps_needed',
    'Memory maps that the server needs for one reader and the writer of each table, counted from its partitions.',
  )
  const limit = gauge('fxd_questdb_memory_maps_limit', 'Memory maps that the machine of the server allows.')
  const disk = gauge(
    'fxd_questdb_disk_bytes',
    'Disk space of all tables of the server, without its write-ahead log.',
  )
  const count = async (): Promise<void> => {
    const found = await memoryMaps(admin)
    partitions.set(found.partitions)
    disk.set(found.diskBytes)
    needed.set(found.needed)
    limit.set(found.limit ?? recommendedLimit)
  }
  return clock.every(
    periodMs,
    () =>
      void count().catch((cause: unknown) =>
        log.debug({ err: cause }, 'failed to count the partitions of QuestDB; retrying in 1 min'),
      ),
  )
}
