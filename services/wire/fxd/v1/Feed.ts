// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface Feed {
  /**
   * BROKER:ACCOUNT
   */
  'key'?: (string);
  'description'?: (string);
  'hidden'?: (boolean);
  'symbolCount'?: (number);
  /**
   * live | stale | offline
   */
  'status'?: (string);
  'livenessSource'?: (string);
  'lastBarTime'?: (number | string | Long);
  /**
   * The definition as JSON, in the manifest's words.
   */
  'definitionJson'?: (string);
  'symbols'?: (string)[];
  'source'?: (string);
  '_lastBarTime'?: "lastBarTime";
}

export interface Feed__Output {
  /**
   * BROKER:ACCOUNT
   */
  'key': (string);
  'description': (string);
  'hidden': (boolean);
  'symbolCount': (number);
  /**
   * live | stale | offline
   */
  'status': (string);
  'livenessSource': (string);
  'lastBarTime'?: (number);
  /**
   * The definition as JSON, in the manifest's words.
   */
  'definitionJson': (string);
  'symbols': (string)[];
  'source': (string);
  '_lastBarTime'?: "lastBarTime";
}
