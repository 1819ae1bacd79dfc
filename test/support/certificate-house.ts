import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Pair {
  /** Paths of PEM files. */
  readonly cert: string
  readonly key: string
}

/** Real certificates, made by openssl in a folder of their own. */
export class CertificateHouse {
  readonly folder = mkdtempSync(join(tmpdir(), 'fxd-certificates-'))

  path(name: string): string {
    return join(this.folder, name)
  }

  read(path: string): Buffer {
    return readFileSync(path)
  }

  /** An authority of this name; the first one signs by default. */
  authority(name: string): { readonly ca: string } {
    const [key, ca] = [this.path(`${name}-ca.key`), this.path(`${name}-ca.crt`)]
    this.#openssl(`req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${key} -out ${ca}`, [
      ...['-subj', `/CN=${name}`, '-days', '30'],
    ])
    return { ca }
  }

  /** `names` as openssl writes them: `URI:fxd://feed/BROKERA:ZERO`, `IP:127.0.0.1`. */
  certificate(
    name: string,
    {
      names = ['IP:127.0.0.1'],
      by = 'ours',
      expired = false,
      endsAt,
    }: {
      names?: readonly string[]
      by?: string
      expired?: boolean
      endsAt?: Date
    } = {},
  ): Pair {
    const [key, request, cert, extensions] = ['key', 'csr', 'crt', 'ext'].map((end) =>
      this.path(`${name}.${end}`),
    ) as [string, string, string, string]
    this.#openssl(`req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${key} -out ${request}`, [
      ...['-subj', `/CN=${name}`],
    ])
    writeFileSync(extensions, `subjectAltName=${names.join(',')}\n`)
    const span = expired
      ? ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z']
      : ['-startdate', '20200101000000Z', '-enddate', endsAt ? asn1Time(endsAt) : '20991231235959Z']
    const database = this.path(`${name}.txt`)
    writeFileSync(database, '')
    const config = this.path(`${name}.cnf`)
    writeFileSync(
      config,
      [
        ...['[ca]', 'default_ca=one', '[one]', `database=${database}`, `new_certs_dir=${this.folder}`],
        ...['rand_serial=yes', 'default_md=sha256', 'policy=any', '[any]', 'commonName=supplied', ''],
      ].join('\n'),
    )
    const signer = ['-cert', this.path(`${by}-ca.crt`), '-keyfile', this.path(`${by}-ca.key`)]
    this.#openssl(`ca -batch -notext -config ${config} -in ${request} -out ${cert} -extfile ${extensions}`, [
      ...signer,
      ...span,
    ])
    return { cert, key }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #openssl(words: string, more: readonly string[]): void {
    execFileSync('openssl', [...words.split(' '), ...more], { stdio: 'pipe' })
  }
}

const asn1Time = (date: Date): string =>
  date
    .toISOString()
    .replace(/[-:T]/g, '')
    .replace(/\.\d{3}Z$/, 'Z')
