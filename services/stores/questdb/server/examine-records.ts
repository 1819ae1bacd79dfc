import { type Finding, passed, problem } from '../../../doctor/finding.ts'
import type { TableRecords } from '../layout/table-records.ts'
import type { TableNames } from '../layout/tables.ts'

export async function examineRecords(records: TableRecords, names: TableNames): Promise<readonly Finding[]> {
  const states = await records.states()
  const found = [...states].flatMap(([table, state]) => {
    if (state === 'in order') return []
    const accept = table === names.registry ? acceptRegistry(names) : `"fxd store accept ${table}"`
    const refill = `"fxd store refill ${table}", so that collectors send its bars again`
    const without = table === names.registry ? '' : `; without a copy run ${refill}`
    return [
      state === 'missing'
        ? problem(
            'missing table',
            `${table}: it was dropped or renamed; its reads and writes fail`,
            `rename it back, or restore it and run ${accept}${without}`,
          )
        : problem(
            'replaced table',
            `${table}: it is not the one that fxd wrote; its reads and writes fail`,
            `if its rows are right, run ${accept}${without}`,
          ),
    ]
  })
  return found.length > 0 ? found : [passed('missing tables', 'none')]
}

/** No ingest starts without its registry, so nothing could answer the command. */
const acceptRegistry = ({ registry, tables }: TableNames): string =>
  `INSERT INTO '${tables}' SELECT 0::timestamp, table_name, id, 1 FROM tables() WHERE table_name = '${registry}', and start every process of fxd again`
