// Original file: proto/fxd/v1/registry.proto


export interface KeyLimits {
  'rpm'?: (number);
  'rpd'?: (number);
  'wsConnections'?: (number);
  'wsSymbols'?: (number);
  '_rpm'?: "rpm";
  '_rpd'?: "rpd";
  '_wsConnections'?: "wsConnections";
  '_wsSymbols'?: "wsSymbols";
}

export interface KeyLimits__Output {
  'rpm'?: (number);
  'rpd'?: (number);
  'wsConnections'?: (number);
  'wsSymbols'?: (number);
  '_rpm'?: "rpm";
  '_rpd'?: "rpd";
  '_wsConnections'?: "wsConnections";
  '_wsSymbols'?: "wsSymbols";
}
