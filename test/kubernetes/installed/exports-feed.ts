import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, exportText, line } from '../../acceptance/client/bars.ts'
import { type Installed, namespace } from './installed.ts'
import { kubectlOf } from './under-load.ts'

const name = 'exports'

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
}

const feedOf = (symbols: readonly string[]): object => ({
  apiVersion: 'marketdata.fxd.dev/v1alpha1',
  kind: 'Feed',
  metadata: { name, namespace },
  spec: {
    broker: 'EXPORTS',
    account: 'CSV',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions: ['1'],
    symbols: { list: symbols.map((raw) => ({ raw, type: 'crypto', digits: 5, session: '24x7' })) },
    source: { type: 'Mt5Csv', path: 'files', follow: true, volumeClaim: name },
  },
})

/** The Feed EXPORTS:CSV, whose collector follows a folder with one export of M1 bars per symbol. */
export class ExportsFeed {
  static readonly key = 'EXPORTS:CSV'
  static readonly object = name
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Makes the volume and the files, then the Feed. Resolves before the Feed is ready. */
  static async apply(
    installed: Installed,
    symbols: readonly string[],
    exported: readonly Bar[],
  ): Promise<ExportsFeed> {
    const kubectl = kubectlOf(installed)
    await installed.cluster.apply(claim)
    await kubectl('wait', `pvc/${name}`, '--for=jsonpath={.status.phase}=Bound', '--timeout=60s')
    const volume = await kubectl('get', `pvc/${name}`, '-o=jsonpath={.spec.volumeName}')
    const folder = await kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
    mkdirSync(join(folder, 'files'))
    const exports = new ExportsFeed(folder)
    for (const symbol of symbols) exports.#export(symbol, exported)
    await installed.cluster.apply(feedOf(symbols))
    return exports
  }

  append(symbol: string, bars: readonly Bar[]): void {
    appendFileSync(this.#file(symbol), bars.map(line).join(''))
  }

  remove(symbol: string): void {
    rmSync(this.#file(symbol))
  }

  /** Writes the whole file at once, as a terminal exports it. */
  #export(symbol: string, bars: readonly Bar[]): void {
    const draft = join(this.#folder, 'draft')
    writeFileSync(draft, exportText(bars))
    renameSync(draft, this.#file(symbol))
  }

  #file(symbol: string): string {
    return join(this.#folder, 'files', `${symbol}_M1.csv`)
  }
}
