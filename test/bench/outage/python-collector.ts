import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { python } from '../../interop/foreign-process.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const feed = feedKey('BROKERA', 'PYTHON')
const names = ['EURUSD', 'GBPUSD', 'USDJPY']

export const pythonSymbols = names.map((name) => compoundKey(feed, name))

/** Adds the manifest of the example's feed to a folder of manifests. */
export function addPythonFeed(home: string): void {
  const manifest = feedManifest({ account: 'PYTHON' })
  writeFileSync(join(home, 'feeds', `${manifest.metadata.name}.yaml`), JSON.stringify(manifest))
}

/** The example collector of docs/collectors.md, which follows a file of this bench. */
export class PythonCollector {
  readonly #child: ChildProcess
  readonly #bars: string
  output = ''

  constructor(home: string, address: string, tokenFile: string) {
    const folder = join(home, 'python')
    mkdirSync(folder)
    this.#bars = join(folder, 'bars.csv')
    writeFileSync(this.#bars, '')
    const out = [`--python_out=${folder}`, `--grpc_python_out=${folder}`]
    const proto = at('proto/fxd/v1/collector.proto')
    execFileSync(python(), ['-m', 'grpc_tools.protoc', `-I${at('proto')}`, ...out, proto])
    const digits = names.map((name) => `${name}=5`).join(',')
    const args = [at('docs/examples/collector.py'), address, feed, tokenFile, digits, this.#bars]
    this.#child = spawn(python(), args, { env: { ...process.env, PYTHONPATH: folder } })
    killWithParent(this.#child)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (piece: Buffer) => (this.output += piece.toString()))
  }

  /** Appends one bar of each symbol. */
  append(time: number): void {
    appendFileSync(this.#bars, names.map((name) => `${name},${time},1.1,1.3,1.05,1.2,7\n`).join(''))
  }

  get sessionsLost(): number {
    return this.output.split('session lost').length - 1
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
