import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Pair {
  /** Paths of PEM files. */
  readonly cert: string
  readonly key: string
}

export interface Wanted {
  /** With their kind: `URI:fxd://feed/BROKERA:ZERO`, `IP:127.0.0.1`. */
  readonly names?: readonly string[]
  /** Name of the authority. */
  readonly by?: string
  readonly endsAt?: Date
  /** Groups of a user of Kubernetes, as the subject's organization. */
  readonly organization?: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const begin = '20200101000000Z'
const farEnd = new Date(Date.UTC(2099, 11, 31))

/** Real certificates, made by openssl in a folder of their own. */
export class CertificateFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'fxd-certificates-'))

  path(name: string): string {
    return join(this.folder, name)
  }

  read(path: string): Buffer {
    return readFileSync(path)
  }

  /** An authority of this name; gives the path of its certificate. */
  authority(name: string): string {
    const ca = this.path(`${name}-ca.crt`)
    const key = ['-keyout', this.path(`${name}-ca.key`)]
    this.#openssl('req', '-x509', ...newKey, ...key, '-out', ca, '-subj', `/CN=${name}`, '-days', '30')
    return ca
  }

  certificate(name: string, wanted: Wanted = {}): Pair {
    const { names = ['IP:127.0.0.1'], by = 'ours', endsAt = farEnd, organization } = wanted
    const subject = `${organization === undefined ? '' : `/O=${organization}`}/CN=${name}`
    const at = (end: string): string => this.path(`${name}.${end}`)
    const [cert, key] = [at('crt'), at('key')]
    this.#openssl('req', ...newKey, '-keyout', key, '-out', at('csr'), '-subj', subject)
    const alternatives = names.map((each, i) => each.replace(':', `.${i}=`))
    writeFileSync(at('ext'), `subjectAltName=@names\n[names]\n${alternatives.join('\n')}\n`)
    writeFileSync(at('txt'), '')
    const directories = `database=${at('txt')}\nnew_certs_dir=${this.folder}\nrand_serial=yes\ndefault_md=sha256\n`
    writeFileSync(
      at('cnf'),
      `[ca]\ndefault_ca=one\n[one]\n${directories}policy=any\n[any]\norganizationName=optional\ncommonName=supplied\n`,
    )
    const signer = ['-cert', this.path(`${by}-ca.crt`), '-keyfile', this.path(`${by}-ca.key`)]
    const files = ['-config', at('cnf'), '-in', at('csr'), '-extfile', at('ext'), '-out', cert]
    const span = ['-startdate', begin, '-enddate', asn1Time(endsAt)]
    this.#openssl('ca', '-batch', '-notext', ...files, ...signer, ...span)
    return { cert, key }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #openssl(...words: readonly string[]): void {
    execFileSync('openssl', words, { stdio: 'pipe' })
  }
}

const asn1Time = (date: Date): string => `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
