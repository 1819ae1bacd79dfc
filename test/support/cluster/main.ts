import { spawn } from 'node:child_process'
import { join } from 'node:path'

/**
 * `make cluster`: the whole service as many processes on this machine, for a person to look at. A
 * terminal sends Ctrl-C to all processes at once; here one of them is told, and ends the others in order.
 */
const child = spawn(process.execPath, [join(import.meta.dirname, 'for-a-person.ts')], {
  detached: true,
  // When this process ends, however it does, the child's input ends, and with it the cluster.
  stdio: ['pipe', 'inherit', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'))
child.on('exit', (code) => process.exit(code ?? 1))
