/** One id of each kind, used wherever an example needs one. */
export const exampleIds = {
  chk: 'chk_01kbr40ckw5n8t3x7y2m6v9c4d',
  file: 'file_01kbr40c5h2d7s9k4m8p3v6wba',
  inc: 'inc_01kbr42dgx7m3t9v5n8w2c6ykr',
  key: 'key_01kbr3g7x4c9m2v8t6n5d3w7ra',
  kid: 'kid_01kbr3f0qa7b3x9t5v2m8c6rje',
  org: 'org_01kbr3f0q8e7v9xg2m5n4w6ztc',
  prj: 'prj_01kbr3f0q9c4h8d2s6w7y5k3na',
  rcp: 'rcp_01kbr3zt5c8v2m7x4n9w6d3bqa',
  upl: 'upl_01kbr40c2m6r8n4t7y9w3x5vqh',
  usr: 'usr_01kbr3f0q6w5n8b2c9x4v7m3td',
  wm: 'wm_01kbr3yh2v7c5m9t4x8n6w3dqa',
} as const;
