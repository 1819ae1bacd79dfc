import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/fixtures/temporary-folder.ts'
import { silentLog } from '../../platform/log/log.ts'
import { exitCodes } from '../../platform/process/exit.ts'
import { systemClock } from '../../platform/system-clock.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'

const main = fileURLToPath(new URL('../../main.ts', import.meta.url))

test('when SQLite rejects the first write, the process prints the reason and ends', async () => {
  const folder = temporaryFolder()
  await (await openEmbeddedStores({ folder, clock: systemClock, log: silentLog })).close()
  const file = join(folder, 'fxd.db')
  const db = new DatabaseSync(file)
  db.exec("CREATE TRIGGER refuse BEFORE UPDATE ON opening BEGIN SELECT raise(FAIL, 'no space'); END")
  db.close()
  const addresses = Object.fromEntries(
    ['FXD_HTTP_ADDR', 'FXD_GRPC_ADDR', 'FXD_OPS_ADDR'].map((name) => [name, '127.0.0.1:0']),
  )
  const env = { PATH: process.env['PATH'], FXD_DATA_DIR: folder, FXD_LOG_LEVEL: 'error', ...addresses }
  const ended = await new Promise<{ readonly code: unknown; readonly err: string }>((resolve) => {
    // A process that stays is killed; then the code is not a number.
    const options = { env, timeout: 20_000, killSignal: 'SIGKILL' } as const
    execFile(process.execPath, [main, 'all'], options, (cause, _out, err) =>
      resolve({ code: cause?.code, err }),
    )
  })
  expect(ended).toEqual({ code: exitCodes.system, err: `fxd: ${file}: no space\n` })
}, 60_000)
