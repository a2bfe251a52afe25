#!/bin/sh
# Makes an OCI image without a container engine, from Debian's packages and the wheel of this folder.
#   deploy/image.sh DIRECTORY        as root, with mmdebstrap, umoci and Python 3; writes the image DIRECTORY/oci:assay
# Containerfile is the usual way; this script makes the same image from package mirrors, without an image registry.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
to=$(mkdir -p "$1" && cd "$1" && pwd)
extras='server,workers,s3,pdf,office,docx'
suite=${SUITE:-bookworm}
python=${PYTHON:-python3}  # the suite's Python release: wheels are built for it

"$python" -m pip wheel --quiet --wheel-dir "$to/wheels" "$here[$extras]"
rm -rf "$to/root" "$to/oci"
mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,ca-certificates,tzdata "$suite" "$to/root"
cp -r "$to/wheels" "$to/root/wheels"
chroot "$to/root" sh -eu -c "
    python3 -m venv /opt/assay
    /opt/assay/bin/pip install --quiet --no-index --find-links /wheels 'assay[$extras]'
    groupadd --gid 10001 assay
    useradd --no-create-home --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin assay
    install -d -o assay -g assay -m 0700 /data /blobs
    rm -rf /wheels /var/cache/apt /var/lib/apt/lists"

umoci init --layout "$to/oci"
umoci new --image "$to/oci:assay"
umoci insert --image "$to/oci:assay" "$to/root" /
umoci config --image "$to/oci:assay" \
    --config.user 10001:10001 --config.workingdir /data --config.volume /data --config.exposedports 8484/tcp \
    --config.env PATH=/opt/assay/bin:/usr/bin:/bin --config.env ASSAY_HOME=/data --config.env ASSAY_SERVER_HOST=0.0.0.0 \
    --config.entrypoint assay --config.cmd serve
echo "$to/oci:assay"
